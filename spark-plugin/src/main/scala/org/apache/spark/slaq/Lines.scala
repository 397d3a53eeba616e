package org.apache.spark.slaq

import java.math.{BigDecimal => JBigDecimal}

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}

import org.apache.spark.SparkContext

/**
 * The lines of the record. Every one has `kind`, and `time` in seconds since 1970:
 *
 *  - `application`: `app`, `spark`, `policy`, `epochSeconds`
 *  - `start`: `run`, `name`, `algorithm`, `parent`, `meta`, `hasLoss`, `maximise`, `maxIterations`, `planned` (whether
 *    it gets a share)
 *  - `plan`: `epoch`, `cores`, `others` (weight of other work), `reserve` (cores kept for it), `othersRunning` (its mean tasks
 *    since the last plan line), and
 *    `runs`, in which each has `run`, `name`, `algorithm`, `parent`, `iteration`, `loss`, `share`, `running` (mean
 *    tasks since the last plan line), `losses` (`[iteration, loss, time]` since the last line, as the algorithm states
 *    them) and, if the engine planned, its `normalisedLoss`, `gain`, `reason`, …
 *  - `finish`: `run`, `name`, `algorithm`, `outcome`, `seconds`, `iterations`, `loss`, `coreSeconds`, `meanShare`, and
 *    the `losses` that no plan line has
 *  - `dropped`: `lines` that could not be written in time
 *
 * Numbers that JSON does not know are the strings "NaN", "Infinity" and "-Infinity".
 */
private[slaq] object Lines {
  private val nodes = JsonNodeFactory.instance

  def application(sc: SparkContext, conf: SlaqConf): JsonNode = line("application", Clock.wall())
    .put("app", sc.applicationId).put("spark", sc.version).put("policy", conf.policy).put("epochSeconds", conf.epoch)

  def start(active: ActiveRun): JsonNode = {
    val run = active.run
    val node = describe(line("start", active.startedAt), active)
      .put("meta", run.meta).put("hasLoss", run.hasLoss).put("maximise", run.maximise).put("planned", active.planned)
    run.maxIterations.foreach(node.put("maxIterations", _))
    node
  }

  def plan(now: Double, plan: Plan, runs: Seq[ActiveRun]): JsonNode = {
    val node = line("plan", now).put("epoch", plan.epoch).put("cores", plan.cores).put("others", plan.others.weight)
      .put("reserve", plan.reserve.getOrElse(0)).put("othersRunning", plan.othersRunning)
    val list = node.putArray("runs")
    runs.foreach(run => list.add(planned(now, plan, run)))
    node
  }

  def finish(now: Double, active: ActiveRun, outcome: String): JsonNode = {
    val node = describe(line("finish", now), active).put("outcome", outcome).put("seconds", now - active.startedAt)
      .put("iterations", active.iterations).put("coreSeconds", active.coreSeconds).put("meanShare", active.meanShare(now))
    active.lastLoss.foreach(point => put(node, "loss", point.loss))
    losses(node, active)
  }

  def dropped(count: Long): JsonNode = line("dropped", Clock.wall()).put("lines", count)

  private def planned(now: Double, plan: Plan, active: ActiveRun): ObjectNode = {
    val node = describe(nodes.objectNode(), active)
    plan.explained.get(active.run.id).foreach(engine => node.setAll[ObjectNode](engine))
    active.lastLoss.foreach(point => put(node.put("iteration", point.iteration), "loss", point.loss))
    plan.shares.get(active.run.id).foreach(node.put("share", _))
    losses(node.put("running", active.meanRunning(now)), active)
  }

  private def describe(node: ObjectNode, active: ActiveRun): ObjectNode = {
    node.put("run", active.run.id).put("name", active.run.name).put("algorithm", active.run.algorithm)
    active.run.parent.foreach(parent => node.put("parent", parent.id))
    node
  }

  private def losses(node: ObjectNode, active: ActiveRun): ObjectNode = {
    val list = node.putArray("losses")
    active.drainPoints().foreach { point =>
      val triple = list.addArray().add(point.iteration)
      if (finite(point.loss)) triple.add(point.loss) else triple.add(point.loss.toString)
      triple.add(seconds(point.time))
    }
    node
  }

  private def line(kind: String, time: Double): ObjectNode = nodes.objectNode().put("kind", kind).put("time", seconds(time))

  /** In microseconds, so that large numbers are written out in full. */
  private def seconds(time: Double): JBigDecimal = JBigDecimal.valueOf((time * 1e6).toLong, 6)

  private def put(node: ObjectNode, key: String, value: Double): Unit =
    if (finite(value)) node.put(key, value) else node.put(key, value.toString)

  private def finite(value: Double): Boolean = !value.isNaN && !value.isInfinite
}
