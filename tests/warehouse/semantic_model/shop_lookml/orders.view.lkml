# Orders of the shop.
view: orders {
  sql_table_name: public.orders ;;
  label: "Customer orders"

  dimension: id { primary_key: yes type: number sql: ${TABLE}.id ;; }
  dimension: user_id { type: number hidden: yes }
  dimension: status {
    type: string
    description: "completed, shipped, cancelled or returned"
    sql: ${TABLE}.status ;;
  }
  dimension: order_amount { label: "Gross sales" type: number sql: ${TABLE}.amount ;; value_format_name: usd }
  dimension: net { type: number sql: ${TABLE}.amount - COALESCE(${TABLE}.discount, 0) ;; }
  dimension: is_big { type: yesno sql: ${order_amount} > 100 ;; }
  dimension: amount_tier { type: tier tiers: [0, 100] style: integer sql: ${order_amount} ;; }
  dimension_group: created {
    type: time
    timeframes: [raw, date, week, month]
    sql: ${TABLE}.created_at ;;
    description: "When it was placed"
  }

  measure: count { type: count drill_fields: [id, created_date] }
  measure: revenue { type: sum sql: ${net} ;; label: "Net sales" description: "Amounts less discounts" }
  measure: completed_revenue { type: sum sql: ${net} ;; filters: [status: "completed"] }
  measure: kept_count { type: count filters: [status: "-cancelled"] }
  measure: sent_count { type: count filters: [status: "completed,shipped", is_big: "no"] }
  measure: big_count { type: count filters: { field: is_big value: "Yes" } }
  measure: large_revenue { type: sum sql: ${order_amount} ;; filters: [order_amount: ">=50"] }
  measure: discounted { type: sum sql: ${order_amount} ;; filters: [status: "-NULL"] }
  measure: completed_share { type: number sql: 1.0 * ${completed_revenue} / NULLIF(${revenue}, 0) ;; value_format_name: percent_1 }
  measure: buyers { type: count_distinct sql: ${user_id} ;; }
  measure: middle { type: median sql: ${order_amount} ;; }
  measure: days { type: count_distinct sql: ${created_date} ;; }
  measure: last_order { type: date sql: MAX(${created_raw}) ;; }
  measure: running { type: running_total sql: ${revenue} ;; }
  measure: p90 { type: percentile percentile: 90 sql: ${order_amount} ;; }
  measure: liquid { type: sum sql: {% if x %} ${net} {% endif %} ;; }
  measure: constant { type: sum sql: ${TABLE}.@{column} ;; }
  measure: like_sent { type: count filters: [status: "%ed"] }
  measure: recent { type: count filters: [created_date: "7 days"] }
  measure: in_rome { type: count filters: [users.city: "Rome"] }
  measure: per_user { type: number sql: ${revenue} / ${users.count} ;; }
  measure: secret { type: sum sql: ${net} ;; required_access_grants: [finance] }
  measure: helper { type: max sql: ${net} ;; hidden: yes }
}
