view: broken {
  dimension: id {
