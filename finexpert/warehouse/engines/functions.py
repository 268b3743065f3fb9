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
_SPARK = _words("""
    acosh add_months aggregate any any_value approx_count_distinct approx_percentile array array_contains array_join array_size array_sort ascii asinh atanh bit_and
    bit_or bool_and bool_or bround btrim cardinality cbrt ceiling char char_length character_length charindex collect_list collect_set
    concat_ws contains corr cosh cot count_if covar_pop covar_samp csc date_add date_diff date_format date_from_unix_date date_part date_sub
    date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decode degrees div double endswith equal_null every explode
    extract factorial find_in_set first float flatten from_unixtime get greatest grouping hour if ifnull ilike initcap instr int isnan isnotnull
    isnull kurtosis last last_day lcase least left levenshtein like listagg locate log10 log1p log2 lpad make_date make_timestamp max_by mean median min_by minute
    mode month monthname months_between nanvl negative next_day nvl nvl2 percentile percentile_approx percentile_cont percentile_disc pmod position
    positive pow quarter regexp regexp_count regexp_extract regexp_like regexp_replace regexp_substr regr_count regr_intercept regr_r2 regr_slope
    reverse right rint rlike rpad second sequence signum sinh size skewness some sort_array split split_part startswith std stddev
    stddev_pop stddev_samp string string_agg substring_index tanh timestamp timestamp_micros timestamp_millis timestamp_seconds timestampadd
    timestampdiff to_char to_date to_number to_timestamp translate trunc try_add try_cast try_divide try_multiply try_subtract try_sum try_avg try_to_date
    try_to_number try_to_timestamp ucase unix_date unix_seconds unix_timestamp var_pop var_samp variance weekday weekofyear width_bucket year bigint
""")
_BY_DIALECT = {
    "postgres": _words("""
        acosh age any_value array array_agg array_length array_to_string ascii asinh atanh bit_and bit_or bit_xor bool_and bool_or
        btrim cardinality cbrt ceiling char_length character_length chr corr cosh cot covar_pop covar_samp date_bin date_part
        date_trunc div every factorial gcd generate_series greatest grouping initcap isfinite json_array_elements
        json_array_elements_text json_array_length json_each json_each_text json_extract_path json_extract_path_text json_object_keys jsonb_array_elements
        jsonb_array_elements_text jsonb_array_length jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text
        jsonb_object_keys jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array jsonb_path_query_first
        jsonb_typeof json_typeof
        justify_days justify_hours justify_interval lcm least left log10 lpad make_date make_interval make_time make_timestamp
        make_timestamptz md5 min_scale mode num_nonnulls num_nulls octet_length overlay percentile_cont percentile_disc position pow regexp_count
        regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
        regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2
        regr_slope regr_sxx regr_sxy regr_syy reverse right rpad scale sinh split_part starts_with stddev stddev_pop stddev_samp
        string_agg string_to_array strpos tanh timezone to_char to_date to_number to_timestamp translate trim_scale trunc unnest
        var_pop var_samp variance width_bucket
    """),
    "mysql": _words("""
        adddate ascii bit_length ceiling char_length character_length convert cot date_add date_format date_sub datediff day dayname
        dayofmonth dayofweek dayofyear elt field find_in_set from_days from_unixtime greatest group_concat hour if ifnull instr
        interval isnull json_contains json_extract json_keys json_length json_type json_unquote json_valid json_value last_day lcase least left locate log10 log2 lpad makedate microsecond mid minute month monthname
        period_add period_diff position pow quarter regexp_instr reverse right rpad second sec_to_time std stddev stddev_pop stddev_samp
        str_to_date strcmp subdate substring_index time time_to_sec timestamp timestampadd timestampdiff to_days to_seconds truncate
        ucase unix_timestamp var_pop var_samp variance week weekday weekofyear year yearweek
    """),
    "sqlite": _words("""
        acosh asinh atanh ceiling char cosh datetime format glob group_concat hex ifnull iif instr json_array_length json_extract
        json_type julianday log10 log2 pow printf quote sinh strftime string_agg tanh time total trunc typeof unicode unixepoch
        finexpert_number finexpert_divisor finexpert_above_zero finexpert_not_negative
    """),
    "clickhouse": _words("""
        char_length character_length
        adddays addmonths addquarters addweeks addyears any any_value anylast argmax argmin avgif bitand bitor ceiling corr countif countsubstrings
        covarpop covarsamp covar_pop covar_samp date_add date_diff date_format date_sub date_trunc dateadd datediff datesub datetrunc dayofmonth dayofweek
        dayofyear endswith exp10 exp2 extract formatdatetime greatest has if ifnull in intdiv intdivorzero isfinite isnan isnotnull isnull least left
        leadinframe laginframe lengthutf8 like log10 log2 lowerutf8 match maxif median medianexact minif minus modulo monthname multiif multiply
        notempty empty notin ilike not nullif parsedatetime parsedatetimebesteffort plus positioncaseinsensitive position quantile quantileexact
        quantileexactexclusive quantileexactinclusive quantileexactweighted quantiles reverse right rounddown
        simplelinearregression skewpop skewsamp splitbychar splitbystring startofmonth startswith stddev_pop stddev_samp stddevpop stddevsamp
        subtractdays subtractmonths subtractquarters subtractweeks subtractyears substringindex sumif to_date todate todate32 todatetime todatetime64
        todayofmonth todayofweek todayofyear todecimal128 todecimal32 todecimal64 tofloat32 tofloat64 tohour toint16 toint32 toint64 toint8
        tointervalday tointervalmonth tointervalquarter tointervalweek tointervalyear toisoweek toisoyear tolastdayofmonth tomonday tominute tomonth
        tonullable toquarter torelativemonthnum tosecond tostartofday tostartofhour tostartofinterval tostartofmonth tostartofquarter
        tostartofweek tostartofyear tostring touint16 touint32 touint64 touint8 tounixtimestamp toweek toyear toyyyymm toyyyymmdd trimboth
        trimleft trimright trunc truncate tuple uniq uniqexact upperutf8 varpop varsamp var_pop var_samp nullable lowcardinality
        accuratecastornull divide and or equals notequals less greater lessorequals greaterorequals year quarter month week day hour minute
        second last_day assumenotnull bool_and bool_or
    """),
    "spark": _SPARK,
    "databricks": _SPARK,
    "snowflake": _words("""
        add_months any_value approx_percentile array_agg array_contains array_size ascii atanh bitand bitor boolor_agg booland_agg ceiling charindex char_length
        collate contains corr cot count_if covar_pop covar_samp date_from_parts date_part date_trunc dateadd datediff datefromparts day dayname dayofmonth dayofweek
        dayofweekiso dayofyear decode div0 div0null editdistance endswith equal_null factorial flatten greatest hour iff ifnull ilike initcap insert
        is_null_value kurtosis last_day least left len like likeall likeany listagg log10 lpad max_by median min_by minute mode month monthname
        months_between next_day nvl nvl2 parse_json percentile_cont percentile_disc position pow previous_day quarter ratio_to_report regexp_count
        regexp_instr regexp_like regexp_replace regexp_substr regr_intercept regr_r2 regr_slope reverse right rlike rpad second skew split_part square
        startswith stddev stddev_pop stddev_samp strtok timeadd timediff timestamp_from_parts timestampadd timestampdiff to_boolean to_char to_date
        to_decimal to_double to_number to_time to_timestamp to_timestamp_ntz to_varchar translate trunc truncate try_cast try_to_date try_to_decimal
        try_to_double try_to_number try_to_timestamp var_pop var_samp variance variance_pop variance_samp week weekiso weekofyear width_bucket
        year yearofweek yearofweekiso zeroifnull regr_count object_construct get get_path number
    """),
    "bigquery": _words("""
        any_value approx_quantiles array array_agg array_concat array_length array_to_string bit_and bit_or ceiling char_length contains_substr corr cot
        countif covar_pop covar_samp date_add date_diff date_from_unix_date date_sub date_trunc datetime datetime_add datetime_diff datetime_sub
        datetime_trunc div ends_with extract format_date format_datetime format_timestamp generate_array generate_date_array greatest ieee_divide if ifnull initcap
        instr is_inf is_nan last_day least left length log10 logical_and logical_or lpad offset parse_date parse_datetime parse_numeric
        parse_timestamp percentile_cont percentile_disc pow regexp_contains regexp_extract regexp_replace reverse right rpad safe_add safe_cast
        safe_divide safe_multiply safe_negate safe_offset safe_subtract safe_ordinal split starts_with stddev stddev_pop stddev_samp string string_agg strpos
        struct substring_index timestamp timestamp_add timestamp_diff timestamp_micros timestamp_millis timestamp_seconds timestamp_sub
        timestamp_trunc translate trunc unix_date unix_seconds unix_millis unnest var_pop var_samp variance numeric bignumeric int64 float64
    """),
    "tsql": _words("""
        ascii atn2 ceiling charindex choose concat_ws convert cot count_big datalength date_bucket dateadd datediff datediff_big datefromparts datename
        datepart datetime2fromparts datetimefromparts datetrunc day eomonth greatest grouping iif isdate isnull isnumeric least left len log10 month
        nchar patindex percentile_cont percentile_disc quotename replicate reverse right square stdev stdevp str string_agg string_split stuff translate
        try_cast try_convert unicode var varp year approx_count_distinct top datetime2 varchar nvarchar
    """),
    "trino": _words("""
        any_value approx_distinct approx_percentile arbitrary array array_agg array_join bool_and bool_or cardinality cbrt ceiling char_length chr codepoint contains corr
        cosh cosine_similarity count_if covar_pop covar_samp cube date_add date_diff date_format date_parse date_trunc day day_of_month
        day_of_week day_of_year dow doy e element_at every extract format_datetime from_iso8601_date from_iso8601_timestamp from_unixtime geometric_mean
        greatest hour if index infinity is_finite is_infinite is_nan json_array_length json_extract json_extract_scalar kurtosis
        last_day_of_month least levenshtein_distance listagg log10 log2 lpad max_by min_by minute month parse_datetime position pow quarter
        regexp_count regexp_extract regexp_like regexp_position regexp_replace regr_intercept regr_slope reverse rpad second sequence
        sinh skewness split split_part starts_with stddev stddev_pop stddev_samp strpos tanh to_unixtime translate truncate try try_cast typeof
        unnest var_pop var_samp variance week week_of_year width_bucket year year_of_week yow at_timezone with_timezone
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
PADDING = frozenset(("lpad", "rpad", "replicate"))
MAX_PADDING = 1_000
