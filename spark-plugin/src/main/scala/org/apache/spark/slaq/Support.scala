package org.apache.spark.slaq

import org.apache.spark.scheduler.TaskSetManager
import org.apache.spark.scheduler.slaq.{SlaqClusterManager, SparkLine}

/** Whether this jar can schedule on the Spark that runs it. */
private[slaq] object Support {

  /** Why not, if it can't. */
  def missing: Option[String] = {
    val version = org.apache.spark.SPARK_VERSION
    if (!SparkLine.supported.exists(line => version == line || version.startsWith(line + ".")) || !offersAreOurs) {
      Some(s"supports Spark ${SparkLine.supported.mkString(", ")} with this jar, not $version")
    } else if (!SlaqClusterManager.isFound) {
      Some("is not visible to Spark's class loader; name its jar in spark.jars or spark.driver.extraClassPath")
    } else None
  }

  /**
   * Whether a limited task set still overrides the method by which Spark offers it a core. A version that changes the
   * method's parameters would call its own instead, and the limits would silently be none.
   */
  private def offersAreOurs: Boolean = {
    val ours = Class.forName("org.apache.spark.scheduler.slaq.LimitedTaskSetManager").getDeclaredMethods.filter(_.getName == "resourceOffer")
    val theirs = classOf[TaskSetManager].getDeclaredMethods.filter(_.getName == "resourceOffer")
    theirs.nonEmpty && theirs.forall(t => ours.exists(_.getParameterTypes.sameElements(t.getParameterTypes)))
  }
}
