"""Which functions a statement may call, by engine: those that the engine has itself, and that only compute.

    SELECT pg_read_file('/etc/passwd')   ->   pg_read_file() is not allowed on PostgreSQL

A name that is missing here may be a function that somebody stored in the database, which can do anything. Functions that differ from
run to run, that read settings, files or other tables, or that make a value of any size are left out.
"""

from __future__ import annotations

_words = str.split

_EVERYWHERE = frozenset(
    _words("""
    abs acos asin atan atan2 avg cast ceil coalesce concat concat_ws cos count cume_dist date degrees dense_rank exp extract
    first_value floor lag last_value lead length ln log lower ltrim max min mod nth_value ntile nullif percent_rank pi
    power radians rank replace round row_number rtrim sign sin sqrt substr substring sum tan trim upper
""")
)
_BY_DIALECT = {
    "postgres": _words("""
        acosh age any_value array array_agg array_length array_to_string ascii asinh atanh bit_and bit_or bit_xor bool_and bool_or
        btrim cardinality cbrt ceiling char_length character_length chr corr cosh cot covar_pop covar_samp date_bin date_part
        date_trunc div every factorial gcd generate_series greatest grouping initcap isfinite json_array_elements
        json_array_elements_text json_array_length json_extract_path json_extract_path_text jsonb_array_elements
        jsonb_array_elements_text jsonb_array_length jsonb_extract_path jsonb_extract_path_text jsonb_typeof json_typeof
        justify_days justify_hours justify_interval lcm least left log10 lpad make_date make_interval make_time make_timestamp
        make_timestamptz md5 min_scale mode octet_length overlay percentile_cont percentile_disc position pow regexp_count
        regexp_instr regexp_like regexp_match regexp_replace regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2
        regr_slope regr_sxx regr_sxy regr_syy reverse right rpad scale sinh split_part starts_with stddev stddev_pop stddev_samp
        string_agg string_to_array strpos tanh timezone to_char to_date to_number to_timestamp translate trim_scale trunc unnest
        var_pop var_samp variance width_bucket
    """),
    "mysql": _words("""
        adddate ascii bit_length ceiling char_length character_length convert cot date_add date_format date_sub datediff day dayname
        dayofmonth dayofweek dayofyear elt field find_in_set from_days from_unixtime greatest group_concat hour if ifnull instr
        interval isnull last_day lcase least left locate log10 log2 lpad makedate microsecond mid minute month monthname
        period_add period_diff position pow quarter reverse right rpad second sec_to_time std stddev stddev_pop stddev_samp
        str_to_date strcmp subdate substring_index time time_to_sec timestamp timestampadd timestampdiff to_days to_seconds truncate
        ucase unix_timestamp var_pop var_samp variance week weekday weekofyear year yearweek
    """),
    "sqlite": _words("""
        acosh asinh atanh ceiling char cosh datetime format glob group_concat hex ifnull iif instr json_array_length json_extract
        json_type julianday log10 log2 pow printf quote sinh strftime string_agg tanh time total trunc typeof unicode unixepoch
        finexpert_number finexpert_divisor finexpert_above_zero finexpert_not_negative
    """),
}
FUNCTIONS = {dialect: _EVERYWHERE | frozenset(names) for dialect, names in _BY_DIALECT.items()}

# Words of the language that stand before a bracket.
KEYWORDS = frozenset(
    _words("""
    all and any array as between bigint bit by case char cross cube date datetime dec decimal distinct div double else end escape
    except exists filter float from full glob group grouping having ilike in inner int integer intersect interval is join
    lateral left like limit materialized nchar not null numeric nvarchar offset on or ordinality order outer over partition
    range real recursive regexp right rlike rollup rows select sets signed smallint some symmetric text then time timestamp
    timestamptz tinyint to unbounded union unsigned using values varchar when where window with within without xor zone
""")
)
# Of these the length is written as a number, so that no value of any size is made.
PADDING = frozenset(("lpad", "rpad"))
MAX_PADDING = 1_000
