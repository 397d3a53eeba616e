// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.test

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable

import org.apache.spark.slaq.loss.{Run, RunEvents}

/** All that a tap told of one run. */
final class Recorded(val run: Run) {
  val losses = mutable.ArrayBuffer[Double]()
  val iterations = mutable.ArrayBuffer[Int]()
  val nanos = mutable.ArrayBuffer[Long](System.nanoTime)
  val outcomes = mutable.ArrayBuffer[String]()
  var progress: Option[(Int, Int)] = None
  val thread: String = Thread.currentThread.getName
}

/** Keeps what trainings do, for a test to look at. */
class Recorder extends RunEvents {
  private val recorded = new ConcurrentHashMap[Long, Recorded]

  protected def on(run: Run)(change: Recorded => Unit): Unit = {
    val known = recorded.get(run.id)
    known.synchronized(change(known))
  }

  override def started(run: Run): Unit = require(recorded.put(run.id, new Recorded(run)) == null, s"$run started twice")
  override def loss(run: Run, iteration: Int, value: Double): Unit = on(run) { r =>
    r.losses += value
    r.iterations += iteration
    r.nanos += System.nanoTime
  }
  override def progress(run: Run, done: Int, total: Int): Unit = on(run)(_.progress = Some((done, total)))
  override def finished(run: Run, outcome: String): Unit = on(run)(_.outcomes += outcome)

  /** What was told so far, in the order of the runs' begin. */
  def all: Seq[Recorded] = {
    val found = mutable.ArrayBuffer[Recorded]()
    recorded.values.forEach(r => found += r)
    found.sortBy(_.run.id).toSeq
  }

  /** The latest run of a name. */
  def named(name: String): Option[Recorded] = all.reverse.find(_.run.name == name)
}

/** JSON of numbers, strings, sequences and maps: enough for what tests print. Doubles keep all their digits. */
object Json {
  def apply(value: Any): String = value match {
    case null | None => "null"
    case Some(inner) => apply(inner)
    case d: Double => if (d.isNaN || d.isInfinite) quote(d.toString) else d.toString
    case s: String => quote(s)
    case m: scala.collection.Map[_, _] => m.map { case (k, v) => quote(k.toString) + ":" + apply(v) }.mkString("{", ",", "}")
    case many: Iterable[_] => many.map(apply).mkString("[", ",", "]")
    case many: Array[_] => apply(many.toSeq)
    case other => other.toString
  }

  private def quote(text: String): String = text.flatMap {
    case '"' => "\\\""
    case '\\' => "\\\\"
    case c if c < ' ' => f"\\u${c.toInt}%04x"
    case c => c.toString
  }.mkString("\"", "", "\"")
}
