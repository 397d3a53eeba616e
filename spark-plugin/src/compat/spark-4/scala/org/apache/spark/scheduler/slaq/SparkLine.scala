package org.apache.spark.scheduler.slaq

/** What differs in the scheduler of the Spark versions that this jar is for. */
private[spark] object SparkLine {

  /** What a task gets of resources other than cores: by name, the amount at each address. */
  type TaskResources = Map[String, Map[String, Long]]
}
