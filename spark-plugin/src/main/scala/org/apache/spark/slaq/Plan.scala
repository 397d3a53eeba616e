package org.apache.spark.slaq

import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.scheduler.slaq.OtherWork

/**
 * The shares of one epoch.
 *
 * @param epoch counts the plans of an application
 * @param cores cores that exist
 * @param others what the work of no run may claim
 * @param reserve cores that are kept for that, if there is any
 * @param othersRunning tasks of such work that ran, as a mean since the last plan
 * @param shares cores by run
 * @param explained what the engine says of each run, by run; empty unless somebody reads it
 */
private[slaq] final case class Plan(
    epoch: Long,
    cores: Int,
    others: OtherWork,
    reserve: Option[Int],
    othersRunning: Double,
    shares: Map[Long, Int],
    explained: Map[Long, ObjectNode])
