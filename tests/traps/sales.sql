-- A company's sales: orders with lines, payments and returns beside each other, prices as texts, months as texts, orders that were deleted.
CREATE TEMP MACRO pick(i, salt, n) AS ((((i + 1) * 2654435761 + salt * 40503 * (i + 7)) % 4294967296) // 4096) % n;

CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, company VARCHAR, country VARCHAR, tier VARCHAR, parent_id INTEGER);
INSERT INTO customers SELECT i, 'Company ' || i, ['DE', 'FR', 'US', 'JP'][1 + pick(i, 1, 4)], ['Gold', 'Silver', 'Bronze'][1 + pick(i, 2, 3)],
  CASE WHEN pick(i, 3, 4) = 0 THEN 1 + pick(i, 4, 40) END
FROM range(1, 201) t(i);

CREATE TABLE products (product_id INTEGER PRIMARY KEY, sku VARCHAR, category VARCHAR, list_price VARCHAR, launched_on DATE);
INSERT INTO products SELECT i, 'SKU-' || (100 + i), ['Hardware', 'Software', 'Services', 'Spare Parts'][1 + i % 4], (9 + pick(i, 1, 1500))::VARCHAR, DATE '2019-01-01' + (pick(i, 2, 1400))::INTEGER
FROM range(1, 61) t(i);

-- An order with a day of deletion counts no more.
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, ordered_at TIMESTAMP, order_status VARCHAR, channel VARCHAR, currency VARCHAR, shipping_cost DOUBLE,
  deleted_at TIMESTAMP);
INSERT INTO orders SELECT i, 1 + pick(i, 1, 180), moment, ['Shipped', 'Shipped', 'Open', 'Returned', 'Cancelled'][1 + pick(i, 3, 5)], ['web', 'partner', 'field sales'][1 + pick(i, 4, 3)],
  ['EUR', 'USD'][1 + pick(i, 5, 2)], round(pick(i, 6, 3000) / 100.0, 2), CASE WHEN pick(i, 7, 20) = 0 THEN moment + to_days(3) END
FROM (SELECT i, TIMESTAMP '2022-01-01 06:00' + to_minutes((pick(i, 2, 1300000))::BIGINT) AS moment FROM range(1, 1601) t(i));

CREATE TABLE order_lines (order_id INTEGER REFERENCES orders, line_no INTEGER, product_id INTEGER REFERENCES products, quantity INTEGER, unit_price_eur DOUBLE, discount_pct DOUBLE,
  PRIMARY KEY (order_id, line_no));
INSERT INTO order_lines SELECT o, l, 1 + pick(o * 5 + l, 1, 55), 1 + pick(o * 5 + l, 2, 9), round(5 + pick(o * 5 + l, 3, 90000) / 100.0, 2), [0, 0, 5, 10, 25][1 + pick(o * 5 + l, 4, 5)]
FROM range(1, 1581) t(o), range(1, 5) u(l) WHERE l <= 1 + o % 4;

-- Some payments were entered twice.
CREATE TABLE payments (payment_ref VARCHAR, order_id INTEGER REFERENCES orders, paid_on DATE, amount_eur DOUBLE, method VARCHAR);
INSERT INTO payments SELECT 'P' || i, 1 + pick(i, 1, 1550), DATE '2022-01-05' + (pick(i, 2, 900))::INTEGER, round(10 + pick(i, 3, 90000) / 100.0, 2), ['card', 'transfer', 'direct debit'][1 + pick(i, 4, 3)] FROM range(1, 1801) t(i);
INSERT INTO payments SELECT * FROM payments WHERE payment_ref IN ('P10', 'P77', 'P300', 'P1200');

CREATE TABLE returns (return_id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders, line_no INTEGER, returned_on DATE, reason VARCHAR, refund_eur DOUBLE);
INSERT INTO returns SELECT i, 1 + pick(i, 1, 1500), 1, DATE '2022-02-01' + (pick(i, 2, 880))::INTEGER, ['DAMAGED', 'WRONG_ITEM', 'LATE'][1 + pick(i, 3, 3)], round(5 + pick(i, 4, 30000) / 100.0, 2) FROM range(1, 301) t(i);

-- A target a country and month; in one month none was set.
CREATE TABLE targets (month VARCHAR, country VARCHAR, target_eur DOUBLE);
INSERT INTO targets SELECT strftime(DATE '2022-01-01' + to_months(m::INTEGER), '%Y-%m'), c, CASE WHEN m = 5 THEN 0 ELSE 20000 + 1000 * pick(m, k, 30) END
FROM range(0, 30) t(m), (VALUES ('DE', 1), ('FR', 2), ('US', 3), ('JP', 4)) x(c, k);

CREATE TABLE product_tags (product_id INTEGER, tag VARCHAR);
INSERT INTO product_tags SELECT p, t FROM range(1, 61) a(p), (VALUES ('new', 1), ('eco', 2), ('bulk', 3)) b(t, n) WHERE n <= p % 4;

-- Blocked customers; one line names none.
CREATE TABLE blocked (customer_id INTEGER, blocked_on DATE);
INSERT INTO blocked VALUES (3, '2023-01-01'), (17, '2023-02-01'), (NULL, '2023-03-01'), (40, '2023-04-01');

CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, customer_id INTEGER, seen_at VARCHAR, page VARCHAR, seconds INTEGER);
INSERT INTO visits SELECT i, 1 + pick(i, 1, 190), strftime(DATE '2023-01-01' + (pick(i, 2, 500))::INTEGER, '%Y-%m-%d'), ['/home', '/shop', '/help'][1 + pick(i, 3, 3)], pick(i, 4, 600) FROM range(1, 2001) t(i);
