//! Words of SQL: what changes something, what a bracket follows without a call, and functions that only
//! look at their arguments or at the catalogue.

/// Words with blanks between them.
pub(super) struct Words(&'static str);

impl Words {
    pub(super) fn contains(&self, word: &str) -> bool {
        self.0.split_ascii_whitespace().any(|each| each == word)
    }
}

/// Words by which a statement changes, locks or runs something, wherever they stand.
pub(super) const DENIED: Words = Words(
    r"
    \ alter attach call checkpoint copy create declare delete delimiter detach drop dumpfile exec execute
    export fsdir grant handler import insert install into load lock merge outfile pragma prepare procedure
    refresh reindex replace revoke set share truncate update upsert vacuum zipfile
    ",
);

/// Tables and columns in which servers keep passwords.
pub(super) const SECRETS: Words = Words(
    "pg_authid pg_shadow pg_user_mapping pg_user_mappings rolpassword authentication_string global_priv",
);

/// Tables of SQLite's shell that read any file.
pub(super) const DENIED_TABLES: Words = Words("fsdir zipfile");

/// Commands of clients (mysql, cqlsh) that a line can begin with.
pub(super) const CLIENT: Words =
    Words("capture charset connect copy delimiter edit login pager prompt resetconnection source system tee");

/// Words that a bracket can follow without a call.
pub(super) const KEYWORDS: Words = Words(
    r"
    all and any array as between by case cube distinct else except exists explain filter from group having
    ilike in intersect join lateral like limit materialized not offset on or over partition range returning
    rollup row rows select sets some then union using values when where window within analyze
    ",
);

/// Functions that only look at their arguments or at the catalogue, of all dialects.
pub(super) const PURE: Words = Words(
    r"
    any_value approx_count_distinct array_agg avg bit_and bit_or bool_and bool_or corr count every
    group_concat grouping json_agg json_object_agg json_arrayagg json_objectagg json_group_array
    json_group_object jsonb_agg jsonb_object_agg listagg max median min mode percentile_cont
    percentile_disc quantile stddev stddev_pop stddev_samp string_agg sum total uniq uniqexact var_pop
    var_samp variance cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank
    rank row_number cast coalesce convert greatest if ifnull iif isnull least nullif nvl try_cast typeof
    pg_typeof abs acos asin atan atan2 cbrt ceil ceiling conv cos degrees div exp floor ln log log10 log2
    mod pi pow power radians rand random round sign sin sqrt tan trunc ascii bit_length btrim char
    char_length character_length chr concat concat_ws field find_in_set format from_base64 glob hex initcap
    instr lcase left length locate lower lpad ltrim md5 mid octet_length overlay position printf quote
    quote_ident quote_literal regexp_count regexp_like regexp_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse right rpad rtrim sha1
    sha2 sha256 space split_part starts_with string_to_array strpos substr substring substring_index
    to_base64 to_char to_hex to_number translate trim ucase unhex unicode unistr upper adddate addtime age
    clock_timestamp curdate current_date current_time current_timestamp curtime date date_add date_bin
    date_diff date_format date_part date_sub date_trunc datediff datetime day dayname dayofmonth dayofweek
    dayofyear extract from_unixtime hour interval julianday last_day localtime localtimestamp make_date
    make_interval make_time make_timestamp minute month monthname now second str_to_date strftime subdate
    sysdate time timediff timestamp timestampdiff to_date to_timestamp unix_timestamp unixepoch
    utc_timestamp week weekday year yearweek array_length array_position array_to_string cardinality
    generate_series generate_subscripts json json_array json_array_length json_build_array
    json_build_object json_contains json_each json_extract json_keys json_length json_object json_pretty
    json_search json_tree json_type json_unquote json_valid json_value jsonb jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
    jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_object_keys jsonb_path_exists
    jsonb_path_query jsonb_pretty jsonb_typeof row_to_json to_json to_jsonb unnest json_array_elements
    json_array_elements_text json_object_keys json_typeof list len struct_pack toyyyymm todate
    col_description connection_id current_catalog current_database current_role current_schema
    current_schemas current_user database format_type found_rows has_column_privilege
    has_database_privilege has_schema_privilege has_table_privilege inet_server_addr inet_server_port
    obj_description pg_backend_pid pg_blocking_pids pg_column_size pg_conf_load_time pg_current_wal_lsn
    pg_database_size pg_encoding_to_char pg_get_constraintdef pg_get_expr pg_get_function_arguments
    pg_get_function_identity_arguments pg_get_function_result pg_get_functiondef pg_get_indexdef
    pg_get_serial_sequence pg_get_triggerdef pg_get_userbyid pg_get_viewdef pg_has_role pg_indexes_size
    pg_is_in_recovery pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp
    pg_postmaster_start_time pg_relation_size pg_size_pretty pg_stat_get_activity pg_table_is_visible
    pg_table_size pg_tablespace_size pg_total_relation_size pg_wal_lsn_diff row_count schema session_user
    shobj_description sqlite_version to_regclass to_regtype txid_current_if_assigned user version
    last_insert_rowid changes total_changes
    ",
);

/// Pragmas that look something up, with an argument too.
pub(super) const PRAGMAS: Words = Words(
    r"
    collation_list compile_options database_list database_size foreign_key_check foreign_key_list
    function_list index_info index_list index_xinfo integrity_check module_list pragma_list quick_check
    show_tables table_info table_list table_xinfo version
    ",
);

/// Pragmas that only tell a setting when they are given no value.
pub(super) const SETTINGS: Words = Words(
    r"
    application_id auto_vacuum automatic_index busy_timeout cache_size case_sensitive_like data_version
    encoding foreign_keys freelist_count journal_mode journal_size_limit locking_mode max_page_count
    mmap_size page_count page_size query_only recursive_triggers schema_version secure_delete synchronous
    temp_store user_version wal_autocheckpoint
    ",
);

/// Commands of SQLite's shell that look, or say how to print.
pub(super) const DOT: Words = Words(
    r"
    .databases .dbinfo .dump .echo .eqp .fullschema .header .headers .help .indexes .indices .limit .lint
    .mode .nullvalue .print .schema .separator .sha3sum .show .stats .tables .timeout .timer .version
    .width
    ",
);

/// Functions by which DuckDB reads a file.
pub(super) const SCANS: Words = Words(
    r"
    parquet_metadata parquet_scan parquet_schema read_csv read_csv_auto read_json read_json_auto
    read_json_objects read_ndjson read_parquet sniff_csv
    ",
);
