view: users {
  sql_table_name: `public`.`users` ;;
  extends: [base]
  dimension: city { type: string sql: ${TABLE}.city ;; description: "Where goods are sent" }
  measure: count { type: count }
}

view: base {
  extension: required
  dimension: id { primary_key: yes type: number sql: ${TABLE}.id ;; }
}

view: order_items {
  dimension: order_id { type: number }
  measure: count { type: count }
  measure: quantity { type: sum sql: ${TABLE}.quantity ;; }
}

view: +order_items {
  measure: quantity { type: max }
  measure: pieces { type: sum sql: ${TABLE}.quantity ;; filters: [order_id: "1, 2"] }
}

view: payments {
  dimension: is_test { type: yesno sql: ${TABLE}.is_test ;; }
  measure: paid { type: sum sql: ${TABLE}.amount ;; }
}

view: monthly {
  derived_table: { sql: SELECT 1 AS a ;; }
  measure: a { type: sum sql: ${TABLE}.a ;; }
}
