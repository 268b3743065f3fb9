-- A brokerage: codes in upper case, segments in words, several currencies, dates as texts, several listings and prices a symbol.
-- `pick(i, salt, n)` gives a number below n that looks random and is the same every time.
CREATE TEMP MACRO pick(i, salt, n) AS ((((i + 1) * 2654435761 + salt * 40503 * (i + 7)) % 4294967296) // 4096) % n;

CREATE TABLE advisors (advisor_id INTEGER PRIMARY KEY, advisor_name VARCHAR, team VARCHAR);
INSERT INTO advisors SELECT i, 'Advisor ' || i, ['Wealth North', 'Wealth South', 'Institutional Desk'][1 + i % 3] FROM range(1, 13) t(i);

CREATE TABLE accounts (account_id INTEGER PRIMARY KEY, client_name VARCHAR, segment VARCHAR, region VARCHAR, advisor_id INTEGER,
  opened_on DATE, closed_on DATE, cash_balance_usd DOUBLE);
INSERT INTO accounts SELECT i, 'Client ' || i, ['institutional', 'retail', 'retail', 'private bank', 'family office'][1 + pick(i, 1, 5)],
  CASE WHEN pick(i, 2, 20) = 0 THEN NULL ELSE ['EMEA', 'AMER', 'APAC'][1 + pick(i, 3, 3)] END,
  CASE WHEN i % 9 = 0 THEN NULL ELSE 1 + pick(i, 4, 11) END,
  DATE '2018-01-01' + (pick(i, 5, 1800))::INTEGER,
  CASE WHEN pick(i, 6, 10) = 0 THEN DATE '2023-02-01' + (pick(i, 7, 300))::INTEGER END,
  CASE WHEN pick(i, 8, 25) = 0 THEN NULL ELSE round(1000 + pick(i, 9, 900000) / 7.0, 2) END
FROM range(1, 241) t(i);

CREATE TABLE instruments (symbol VARCHAR PRIMARY KEY, instrument_name VARCHAR, asset_class VARCHAR, rating VARCHAR, lot_size INTEGER);
INSERT INTO instruments SELECT 'SYM' || lpad(i::VARCHAR, 2, '0'), 'Instrument ' || i, ['EQ', 'FI', 'FUND'][1 + i % 3],
  CASE WHEN i % 3 = 1 THEN ['AAA', 'AA', 'BBB'][1 + pick(i, 1, 3)] END, [1, 10, 100][1 + pick(i, 2, 3)]
FROM range(1, 41) t(i);

-- Most symbols are listed on two or three exchanges.
CREATE TABLE listings (symbol VARCHAR, exchange VARCHAR, ticker VARCHAR);
INSERT INTO listings SELECT 'SYM' || lpad(i::VARCHAR, 2, '0'), exchange, 'T' || i || '.' || exchange
FROM range(1, 41) t(i), (VALUES ('XNYS', 1), ('XLON', 2), ('XTKS', 3)) e(exchange, n) WHERE n <= 1 + i % 3;

CREATE TABLE trades (trade_id BIGINT PRIMARY KEY, account_id INTEGER REFERENCES accounts, symbol VARCHAR, side VARCHAR, status VARCHAR,
  quantity INTEGER, price DOUBLE, amount DOUBLE, currency VARCHAR, executed_at TIMESTAMP, settle_date DATE, trade_dt VARCHAR,
  venue VARCHAR, commission_bp DOUBLE);
INSERT INTO trades SELECT i, 1 + pick(i, 1, 200), 'SYM' || lpad((1 + pick(i, 2, 38))::VARCHAR, 2, '0'), ['BUY', 'SELL'][1 + pick(i, 3, 2)],
  ['FILLED', 'FILLED', 'FILLED', 'CANCELLED', 'PART_FILLED', 'REJECTED'][1 + pick(i, 4, 6)], q, p, round(q * p, 2),
  ['USD', 'USD', 'EUR', 'GBP'][1 + pick(i, 7, 4)], moment, moment::DATE + 2, strftime(moment, '%Y%m%d'),
  CASE WHEN pick(i, 9, 15) = 0 THEN NULL ELSE ['XNYS', 'XLON ', 'XTKS'][1 + pick(i, 10, 3)] END, pick(i, 11, 40) / 4.0
FROM (SELECT i, 1 + pick(i, 5, 300) AS q, 5 + pick(i, 6, 40000) / 100.0 AS p,
  TIMESTAMP '2022-01-03 08:00' + to_minutes((pick(i, 8, 1300000))::BIGINT) AS moment FROM range(1, 3001) t(i));

CREATE TABLE fees (fee_id INTEGER PRIMARY KEY, account_id INTEGER REFERENCES accounts, charged_on DATE, kind VARCHAR, amount_usd DOUBLE);
INSERT INTO fees SELECT i, 1 + pick(i, 1, 220), DATE '2022-01-31' + (pick(i, 2, 880))::INTEGER,
  ['CUSTODY', 'ADVISORY', 'PLATFORM'][1 + pick(i, 3, 3)], round(3 + pick(i, 4, 9000) / 90.0, 2)
FROM range(1, 1201) t(i);

-- Units are kept as texts.
CREATE TABLE positions (account_id INTEGER, symbol VARCHAR, position_day DATE, units VARCHAR, market_value_usd DOUBLE);
INSERT INTO positions SELECT 1 + i % 200, 'SYM' || lpad((1 + pick(i % 600, 2, 38))::VARCHAR, 2, '0'), [DATE '2023-06-30', DATE '2023-12-31', DATE '2024-03-31'][1 + i // 600],
  (1 + pick(i, 3, 2000))::VARCHAR, round(10 + pick(i, 4, 500000) / 9.0, 2)
FROM range(0, 1800) t(i);

CREATE TABLE fx_rates (rate_day DATE, currency VARCHAR, usd_per_unit DOUBLE);
INSERT INTO fx_rates SELECT DATE '2022-01-01' + i::INTEGER, c, round(base + pick(i, k, 200) / 1000.0, 4)
FROM range(0, 1100) t(i), (VALUES ('USD', 1.0, 0), ('EUR', 1.0, 1), ('GBP', 1.15, 2)) r(c, base, k) WHERE c <> 'USD'
UNION ALL SELECT DATE '2022-01-01' + i::INTEGER, 'USD', 1.0 FROM range(0, 1100) t(i);

-- Symbols that may not be bought any more; one of them is not known.
CREATE TABLE restricted (symbol VARCHAR, since DATE);
INSERT INTO restricted VALUES ('SYM03', '2023-01-01'), ('SYM07', '2023-05-01'), (NULL, '2023-06-01'), ('SYM11', '2023-08-01');

-- Limits of accounts; a limit of zero stands for an account that may not borrow.
CREATE TABLE credit_lines (account_id INTEGER PRIMARY KEY, limit_usd DOUBLE, used_usd DOUBLE);
INSERT INTO credit_lines SELECT i, CASE WHEN i % 11 = 0 THEN 0 ELSE 1000 + pick(i, 1, 50000) END, CASE WHEN i % 11 = 0 THEN 0 ELSE pick(i, 2, 1000) END
FROM range(1, 121) t(i);
