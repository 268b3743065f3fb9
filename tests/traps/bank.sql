-- A retail bank: short codes, debits and credits as positive amounts, value days and rates as texts, branches that were renamed.
CREATE TEMP MACRO pick(i, salt, n) AS ((((i + 1) * 2654435761 + salt * 40503 * (i + 7)) % 4294967296) // 4096) % n;

-- A branch has a row for each name that it had.
CREATE TABLE branches (branch_code VARCHAR, branch_name VARCHAR, region VARCHAR, valid_from DATE);
INSERT INTO branches SELECT 'B' || lpad(i::VARCHAR, 2, '0'), 'Branch ' || i, ['North', 'South', 'West'][1 + i % 3], DATE '2010-01-01' FROM range(1, 13) t(i)
UNION ALL SELECT 'B' || lpad(i::VARCHAR, 2, '0'), 'Office ' || i, ['North', 'South', 'West'][1 + i % 3], DATE '2021-01-01' FROM range(1, 13, 2) t(i);

CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, full_name VARCHAR, customer_kind VARCHAR, city VARCHAR, branch_code VARCHAR, risk_class VARCHAR);
INSERT INTO customers SELECT i, 'Person ' || i, ['PERS', 'PERS', 'SME', 'CORP'][1 + pick(i, 1, 4)], ['Lindau', 'Marburg', 'São Tiago', ' Ostheim'][1 + pick(i, 2, 4)],
  'B' || lpad((1 + pick(i, 3, 12))::VARCHAR, 2, '0'), ['low', 'medium', 'high'][1 + pick(i, 4, 3)]
FROM range(1, 301) t(i);

CREATE TABLE accounts (account_no VARCHAR PRIMARY KEY, customer_id INTEGER REFERENCES customers, product VARCHAR, currency VARCHAR, opened_on DATE,
  closed_on DATE, overdraft_limit DOUBLE);
INSERT INTO accounts SELECT 'AC' || lpad(i::VARCHAR, 5, '0'), 1 + pick(i, 1, 290), ['CUR', 'SAV', 'TERM'][1 + pick(i, 2, 3)],
  ['EUR', 'EUR', 'CHF'][1 + pick(i, 3, 3)], DATE '2016-01-01' + (pick(i, 4, 2500))::INTEGER,
  CASE WHEN pick(i, 5, 8) = 0 THEN DATE '2023-03-01' + (pick(i, 6, 300))::INTEGER END, CASE WHEN pick(i, 7, 3) = 0 THEN 0 ELSE 500 * (1 + pick(i, 8, 6)) END
FROM range(1, 501) t(i);

-- Amounts are positive; the direction says whether they came or went. A reversal takes an earlier entry back.
CREATE TABLE entries (entry_id BIGINT PRIMARY KEY, account_no VARCHAR REFERENCES accounts, booked_on DATE, value_day VARCHAR, direction VARCHAR, channel VARCHAR,
  amount DOUBLE, currency VARCHAR, reversal_of BIGINT, narrative VARCHAR);
INSERT INTO entries SELECT i, a.account_no, day, strftime(day + 1, '%d/%m/%Y'), ['DR', 'CR'][1 + pick(i, 3, 2)],
  ['ATM', 'CARD', 'WIRE', 'BRANCH'][1 + pick(i, 4, 4)], round(1 + pick(i, 5, 800000) / 100.0, 2), a.currency,
  CASE WHEN i > 100 AND pick(i, 6, 30) = 0 THEN i - 50 END, CASE WHEN pick(i, 7, 5) = 0 THEN NULL ELSE 'Note ' || pick(i, 8, 50) END
FROM (SELECT i, 'AC' || lpad((1 + pick(i, 1, 470))::VARCHAR, 5, '0') AS no, DATE '2022-01-01' + (pick(i, 2, 900))::INTEGER AS day FROM range(1, 4001) t(i))
JOIN accounts a ON a.account_no = no;

-- Rates are kept as texts in percent.
CREATE TABLE loans (loan_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, purpose VARCHAR, principal_eur DOUBLE, outstanding_eur DOUBLE, rate_pct VARCHAR,
  granted_on DATE, maturity_date DATE, defaulted BOOLEAN);
INSERT INTO loans SELECT i, 1 + pick(i, 1, 250), ['home', 'car', 'business'][1 + pick(i, 2, 3)], 5000 + 100 * pick(i, 3, 3000), 100 * pick(i, 4, 50),
  CASE WHEN pick(i, 5, 2) = 0 THEN round(2 + pick(i, 6, 700) / 100.0, 2)::VARCHAR ELSE round(10 + pick(i, 7, 500) / 100.0, 2)::VARCHAR END, DATE '2019-01-01' + (pick(i, 8, 1700))::INTEGER,
  DATE '2026-01-01' + (pick(i, 9, 3000))::INTEGER, CASE WHEN pick(i, 10, 4) = 0 THEN NULL ELSE pick(i, 10, 4) = 1 END
FROM range(1, 361) t(i);

CREATE TABLE daily_balances (account_no VARCHAR, balance_day DATE, balance DOUBLE);
INSERT INTO daily_balances SELECT 'AC' || lpad((1 + i // 12)::VARCHAR, 5, '0'), last_day(DATE '2023-01-01' + to_months((i % 12)::INTEGER)), round(pick(i, 1, 900000) / 50.0 - 2000, 2)
FROM range(0, 3600) t(i);

-- Customers to be looked at; one number was not entered.
CREATE TABLE watchlist (customer_id INTEGER, reason VARCHAR, listed_on DATE);
INSERT INTO watchlist SELECT CASE WHEN i = 4 THEN NULL ELSE 1 + pick(i, 1, 290) END, ['fraud alert', 'sanctions hit', 'late payer'][1 + i % 3], DATE '2023-01-15' + (20 * i)::INTEGER
FROM range(0, 15) t(i);

-- What customers asked; a ticket without a day of closing is open.
CREATE TABLE tickets (ticket_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, topic VARCHAR, opened_at TIMESTAMP, closed_at TIMESTAMP, priority VARCHAR);
INSERT INTO tickets SELECT i, 1 + pick(i, 1, 280), ['Card lost', 'card  lost', 'Login', 'Fees'][1 + pick(i, 2, 4)], TIMESTAMP '2023-01-01 07:00' + to_minutes((pick(i, 3, 600000))::BIGINT),
  CASE WHEN pick(i, 4, 4) > 0 THEN TIMESTAMP '2024-03-01 07:00' + to_minutes((pick(i, 5, 20000))::BIGINT) END, ['P1', 'P2', 'P3'][1 + pick(i, 6, 3)]
FROM range(1, 701) t(i);

-- What a branch earned in a month and since January, who worked there at its end, and its share of costs.
CREATE TABLE branch_months (branch_code VARCHAR, month_end DATE, income_eur DOUBLE, income_ytd_eur DOUBLE, headcount INTEGER, cost_ratio DOUBLE, customers_count INTEGER,
  PRIMARY KEY (branch_code, month_end));
INSERT INTO branch_months SELECT 'B' || lpad(b::VARCHAR, 2, '0'), last_day(DATE '2022-01-01' + to_months(m::INTEGER)), earned,
  sum(earned) OVER (PARTITION BY b, m // 12 ORDER BY m), 5 + pick(b * 40 + m, 2, 30), round(0.4 + pick(b * 40 + m, 3, 50) / 100.0, 2), 20 + pick(b * 40 + m, 4, 300)
FROM (SELECT b, m, 1000.0 + pick(b * 40 + m, 1, 9000) AS earned FROM range(1, 13) t(b), range(0, 24) u(m));

-- Terms of an account: the day on which one ends is the first of the next, and the last one has no end.
CREATE TABLE account_terms (account_no VARCHAR, valid_from DATE, valid_to DATE, monthly_fee_eur DOUBLE, PRIMARY KEY (account_no, valid_from));
INSERT INTO account_terms SELECT account_no, opened_on, CASE WHEN customer_id % 3 = 0 THEN DATE '2023-03-01' ELSE DATE '9999-12-31' END, 1 + customer_id % 5 FROM accounts WHERE opened_on < '2023-03-01'
UNION ALL SELECT account_no, DATE '2023-03-01', DATE '9999-12-31', 9 FROM accounts WHERE customer_id % 3 = 0 AND opened_on < '2023-03-01';

CREATE TABLE logins (login_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, logged_at TIMESTAMPTZ);
INSERT INTO logins SELECT i, 1 + pick(i, 1, 280), TIMESTAMPTZ '2023-01-01 00:00+00' + to_minutes((pick(i, 2, 500000))::BIGINT) FROM range(1, 501) t(i);

CREATE TABLE card_payments (payment_no INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, paid_on DATE, payment_status VARCHAR, amount_cents BIGINT);
INSERT INTO card_payments SELECT i, 1 + i % 40, DATE '2023-01-01' + (i % 365)::INTEGER, CASE WHEN i % 10 = 0 THEN 'declined' WHEN i % 10 = 1 THEN 'pending' ELSE 'settled' END,
  500 + (i * 7919) % 90000 FROM range(1, 1201) t(i);
