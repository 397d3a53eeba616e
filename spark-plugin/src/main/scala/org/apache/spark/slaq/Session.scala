package org.apache.spark.slaq

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.slaq.SlaqScheduling
import org.apache.spark.slaq.engine.Engine
import org.apache.spark.slaq.loss.LossTap

/** Everything of an application that runs beside the scheduler: the loss tap, the planner, the record. */
private[slaq] final class Session private (tap: LossTap, planner: Planner, record: Option[Record]) extends AutoCloseable {

  /** Ends the tap first: what it has seen goes through the planner to the record. */
  override def close(): Unit = {
    try tap.close()
    finally try planner.close()
    finally record.foreach(_.close())
  }
}

private[slaq] object Session extends Logging {

  /** Starts what the settings ask for; without an engine, or without our scheduler, it only records. */
  def start(sc: SparkContext, conf: SlaqConf, engine: Option[Engine]): Session = {
    val scheduler = sc.taskScheduler match {
      case ours: SlaqScheduling => Some(ours)
      case _ => None
    }
    val record = conf.explainPath.flatMap(Record.open)
    record.foreach(_.write(Lines.application(sc, conf)))
    val planner = new Planner(sc, conf, scheduler, engine.filter(_ => scheduler.isDefined), record)
    planner.start()
    val tap = LossTap.start(sc, conf.losses, planner)
    logInfo(s"SLAQ runs with policy ${conf.policy}, an epoch of ${conf.epoch} s and ${tap.tier} losses")
    new Session(tap, planner, record)
  }
}
