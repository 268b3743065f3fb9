cube(`payments`, { sql_table: `payments` });
