package org.apache.spark.scheduler.slaq

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.TaskSchedulerImpl

/** Spark's scheduler of local, standalone and Kubernetes applications, with shares. */
private[slaq] class SlaqTaskScheduler(sc: SparkContext, maxTaskFailures: Int, isLocal: Boolean)
    extends TaskSchedulerImpl(sc, maxTaskFailures, isLocal)
    with SlaqScheduling
