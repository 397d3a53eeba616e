package org.apache.spark.slaq.executors

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageCompleted, SparkListenerStageSubmitted}

/**
 * Whether an application is filling its cache: whether a stage under way reads an RDD that is to be cached and is not
 * there as a whole. An RDD that was persisted and never read is no caching under way.
 */
private[slaq] final class Caching(sc: SparkContext) extends SparkListener {
  private val stages = new ConcurrentHashMap[Int, Seq[Int]]

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit = {
    val cached = event.stageInfo.rddInfos.filter(_.storageLevel.isValid).map(_.id)
    if (cached.nonEmpty) stages.put(event.stageInfo.stageId, cached)
  }

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit = stages.remove(event.stageInfo.stageId)

  def underWay: Boolean = !stages.isEmpty && {
    val whole = sc.getRDDStorageInfo.filter(info => info.numCachedPartitions >= info.numPartitions).map(_.id).toSet
    stages.values.stream.anyMatch(rdds => !rdds.forall(whole))
  }
}
