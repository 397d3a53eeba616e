package org.apache.spark.scheduler.slaq

import org.apache.spark.resource.ResourceInformation

/** What differs in the scheduler of the Spark versions that this jar is for. */
private[spark] object SparkLine {

  /** What a task gets of resources other than cores: by name, the addresses. */
  type TaskResources = Map[String, ResourceInformation]
}
