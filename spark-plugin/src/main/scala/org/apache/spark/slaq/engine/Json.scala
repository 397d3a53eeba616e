package org.apache.spark.slaq.engine

import java.util.{LinkedHashMap => JMap}

import com.fasterxml.jackson.databind.ObjectMapper

/** Flat JSON objects, by the Jackson that Spark carries in every version. */
private[engine] object Json {
  private val mapper = new ObjectMapper

  def of(fields: Iterable[(String, Any)]): String = {
    val map = new JMap[String, Any]
    fields.foreach { case (key, value) => map.put(key, value) }
    mapper.writeValueAsString(map)
  }
}
