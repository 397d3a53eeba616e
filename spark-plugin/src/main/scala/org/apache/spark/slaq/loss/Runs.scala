// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.SparkContext

/**
 * The trainings in progress: one stack of frames a thread, since all that a fit does in the driver happens on the
 * thread that called it. A frame is opened where a fit begins and becomes a [[Run]] once its algorithm is known; some
 * never do (`PipelineModel.transform` opens one as well).
 *
 * A run's id is Spark's local property [[LossTap.RunProperty]] while its fit works, so all its jobs carry it. Spark
 * hands local properties on to new threads by copy: that is how the inner runs of a CrossValidator's or OneVsRest's
 * pool find their parent, and why a pool thread that outlives its creator's run may carry a stale id; such an id is
 * not open any more and is ignored.
 */
private[loss] final class Runs(sc: SparkContext, events: RunEvents, tierOf: Algorithm => String) {
  import Runs._

  private final class Frame(val key: AnyRef, val kind: Kind) {
    var run: Run = _
    var before: String = _ // the local property's value to restore
    def running: Boolean = run != null && run.open
  }

  // Innermost first.
  private val frames = ThreadLocal.withInitial[List[Frame]](() => Nil)
  private val openRuns = new ConcurrentHashMap[Long, Run]

  /** An open run by its id. */
  def get(id: Long): Option[Run] = Option(openRuns.get(id))

  /** An open run by the value of the local property, which may be missing or stale. */
  def get(property: String): Option[Run] =
    if (property == null) None
    else try get(property.toLong) catch { case _: NumberFormatException => None }

  /** The innermost run of this thread. */
  def current: Option[Run] = frames.get.find(_.running).map(_.run)

  /** The innermost run of this thread, if its losses come through a family of probes. */
  def current(family: String): Option[Run] = current.filter(_.kind.families.contains(family))

  /** Whether an RDD-based algorithm that begins here is a training of its own, not the inside of another. */
  def outermost: Boolean = current.forall(_.meta)

  /** Opens a frame that ends with the same key, or by [[leaveInnermost]] of its kind. */
  def enter(key: AnyRef, kind: Kind): Unit = {
    val live = frames.get.dropWhile(frame => frame.run != null && !frame.running) // their end was never seen
    frames.set(new Frame(key, kind) :: live)
  }

  /** Makes the frame with this key a run; the first call counts. */
  def name(key: AnyRef, algorithm: Algorithm, uid: Option[String]): Unit =
    frames.get.find(_.key eq key).filter(_.run == null).foreach { frame =>
      frame.before = sc.getLocalProperty(LossTap.RunProperty)
      val parent = current.orElse(get(frame.before))
      val id = ids.incrementAndGet()
      val known = uid.getOrElse(s"${algorithm.name}_$id")
      val chosen = Option(sc.getLocalProperty(LossTap.NameProperty))
      // Inner runs inherit the property: they keep it as a prefix, so that names stay distinct.
      val name = chosen.fold(known)(n => if (parent.isEmpty) n else s"$n/$known")
      val run = new Run(id, parent, algorithm, known, name, tierOf(algorithm))
      frame.run = run
      openRuns.put(id, run)
      sc.setLocalProperty(LossTap.RunProperty, id.toString)
      events.started(run)
    }

  /** Opens a frame and names it at once. */
  def begin(key: AnyRef, algorithm: Algorithm): Unit = {
    enter(key, Library)
    name(key, algorithm, None)
  }

  /** Closes the frame with this key, if it is open on this thread, and whatever was left open inside of it. */
  def leave(key: AnyRef, outcome: String): Unit = {
    val (inner, rest) = frames.get.span(_.key ne key)
    rest.headOption.foreach { frame =>
      inner.foreach(close(_, Abandoned))
      close(frame, outcome)
      frames.set(rest.tail)
    }
  }

  /** Closes the innermost frame of a kind. */
  def leaveInnermost(kind: Kind, outcome: String): Unit =
    frames.get.find(_.kind eq kind).foreach(frame => leave(frame.key, outcome))

  /** The next iteration's loss. */
  def loss(run: Run, value: Double): Unit = loss(run, run.last + 1, value)

  /** An iteration's loss; one that was told already is dropped (line searches and copies repeat them). */
  def loss(run: Run, iteration: Int, value: Double): Unit =
    if (iteration > run.last) run.synchronized {
      if (run.open) {
        run.last = iteration
        events.loss(run, iteration, value)
      }
    }

  def progress(run: Run, done: Int, total: Int): Unit =
    run.synchronized(if (run.open) events.progress(run, done, if (total == 0) 0 else math.max(done, total)))

  /** Ends what is still open, on whichever thread. */
  def abandonAll(): Unit = openRuns.values.forEach(run => end(run, Abandoned))

  private def close(frame: Frame, outcome: String): Unit = if (frame.run != null) {
    end(frame.run, outcome)
    sc.setLocalProperty(LossTap.RunProperty, frame.before)
  }

  private def end(run: Run, outcome: String): Unit = run.synchronized {
    if (run.open) {
      run.end()
      openRuns.remove(run.id)
      events.finished(run, outcome)
    }
  }
}

private[loss] object Runs {
  val Finished = "finished"
  val Failed = "failed"
  val Abandoned = "abandoned"

  /** Who opened a frame. */
  sealed trait Kind
  /** An estimator of `spark.ml`, framed by its instrumentation. */
  case object Estimator extends Kind
  /** An algorithm of the RDD-based `spark.mllib`, framed by its own method. */
  case object Library extends Kind

  // Of the JVM, not of a context: a property left on some thread by an earlier context can then never match.
  private val ids = new AtomicLong

  /**
   * How a fit ended that left by a throwable (null: it returned). Scala's `return` inside a closure leaves by a
   * `NonLocalReturnControl`: LogisticRegression always ends so.
   */
  def outcome(thrown: AnyRef): String = thrown match {
    case null => Finished
    case control if control.getClass.getName.startsWith("scala.runtime.NonLocalReturnControl") => Finished
    case _ => Failed
  }
}
