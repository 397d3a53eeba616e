package org.apache.spark.slaq.executors

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageCompleted, SparkListenerStageSubmitted}
import org.apache.spark.scheduler.slaq.SlaqScheduling

/**
 * Whether an application is filling its cache: whether a stage under way reads an RDD that is to be cached and is not
 * there as a whole. An RDD that was persisted and never read is no caching under way. A stage of which nothing is known yet
 * may be one: its tasks start before listeners hear of it.
 */
private[slaq] final class Caching(sc: SparkContext) extends SparkListener {
  private val stages = new ConcurrentHashMap[Int, Seq[Int]]

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    stages.put(event.stageInfo.stageId, event.stageInfo.rddInfos.filter(_.storageLevel.isValid).map(_.id))

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit = stages.remove(event.stageInfo.stageId)

  def underWay: Boolean = incomplete || unknown

  private def incomplete: Boolean = stages.values.stream.anyMatch(_.nonEmpty) && {
    val whole = sc.getRDDStorageInfo.filter(info => info.numCachedPartitions >= info.numPartitions).map(_.id).toSet
    stages.values.stream.anyMatch(rdds => !rdds.forall(whole))
  }

  private def unknown: Boolean = sc.taskScheduler match {
    case scheduler: SlaqScheduling => scheduler.stages().exists(!stages.containsKey(_))
    case _ => false
  }
}
