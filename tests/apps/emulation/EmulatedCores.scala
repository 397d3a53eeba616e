package emulation

import java.util.concurrent.atomic.LongAdder

import org.apache.spark.TaskContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}

/**
 * Makes declared cores behave like real ones on a machine that has few: a task that says so sleeps after it has computed
 * until it has lasted its stated time, so 64 slots are as busy as 64 cores would be while the two cores of the machine do
 * all of the (small) computing. When many tasks start at once and wait for a processor, the sleep makes up for it, as
 * long as the computing fits into the stated time; by how much it did not is counted.
 *
 * Everything else is real: Spark, MLlib, the losses, the scheduling. Only tasks of threads that called [[EmulatedCores.on]]
 * sleep, and of their stages only those with as many tasks as the data has partitions: the last steps of an aggregation
 * handle a few kilobytes on real clusters too.
 */
final class EmulatedCores extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = null

  override def executorPlugin(): ExecutorPlugin = new ExecutorPlugin {
    override def onTaskStart(): Unit = {
      val task = TaskContext.get()
      val start = System.nanoTime()
      for {
        stated <- Option(task.getLocalProperty(EmulatedCores.Property))
        millis <- EmulatedCores.millis(stated, task.partitionId(), task.numPartitions())
      } task.addTaskCompletionListener[Unit](_ => EmulatedCores.last(start, millis))
    }
  }
}

object EmulatedCores {
  /** Local property: "partitions:milliseconds". */
  val Property = "slaq.emulated.task"

  /** Partitions of real data differ in size: their times are spread over this part of the stated one. */
  private val Spread = 0.3

  /** Lengthens the tasks of this thread's jobs: stages of `partitions` tasks, `millis` a task on average. */
  def on(sc: org.apache.spark.SparkContext, partitions: Int, millis: Int): Unit =
    sc.setLocalProperty(Property, s"$partitions:$millis")

  /** The tasks of this thread's jobs last as long as they compute. */
  def off(sc: org.apache.spark.SparkContext): Unit = sc.setLocalProperty(Property, null)

  private val stated = new LongAdder
  private val overrun = new LongAdder

  /** By what part of their stated times the tasks of this process took longer: 0 when the emulation held. */
  def excess: Double = if (stated.sum == 0) 0.0 else overrun.sum.toDouble / stated.sum

  /** Lets a task last `millis` from its start. */
  private def last(start: Long, millis: Long): Unit = {
    val left = millis - (System.nanoTime() - start) / 1000000
    stated.add(millis)
    if (left < 0) overrun.add(-left)
    else
      try Thread.sleep(left)
      catch { case _: InterruptedException => Thread.currentThread().interrupt() }
  }

  /** How long a task lasts; the same partition always takes the same time. */
  private[emulation] def millis(stated: String, partition: Int, partitions: Int): Option[Long] = {
    val Array(of, time) = stated.split(':').map(_.toInt)
    if (of != partitions) None
    else {
      // Multiplying by the golden ratio spreads neighbouring partitions evenly over [0, 1).
      val place = (partition * 0.6180339887498949) % 1.0
      Some(math.round(time * (1 - Spread / 2 + Spread * place)))
    }
  }
}
