connection: "shop"
include: "/views/*.view.lkml"

explore: orders {
  label: "Orders"
  join: users {
    type: left_outer
    sql_on: ${orders.user_id} = ${users.id} ;;
    relationship: many_to_one
  }
  join: buyers {
    from: users
    sql_on: ${orders.user_id} = ${buyers.id} AND ${buyers.city} = 'Rome' ;;
  }
  join: order_items {
    sql_on: ${order_items.order_id} = ${orders.id} ;;
    relationship: one_to_many
  }
  always_filter: { filters: [orders.created_date: "last 30 days"] }
}

explore: order_items {
  access_filter: { field: order_items.order_id user_attribute: team }
  join: orders { foreign_key: order_id }
}

explore: payments {
  sql_always_where: ${payments.is_test} = false ;;
}
