package emulation

import org.apache.spark.TaskContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}

/**
 * Makes declared cores behave like real ones on a machine that has few: a task that says so sleeps before it computes,
 * so 64 slots are as busy as 64 cores would be while the two cores of the machine do all of the (small) computing.
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
      val stated = task.getLocalProperty(EmulatedCores.Property)
      if (stated != null) EmulatedCores.millis(stated, task.partitionId(), task.numPartitions()).foreach(Thread.sleep)
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

  /** How long a task sleeps; the same partition always takes the same time. */
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
