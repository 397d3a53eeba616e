package org.apache.spark.slaq.engine

/**
 * The work of one finished stage, from which the engine learns how a run's speed depends on its cores.
 *
 * @param tasks tasks of the stage
 * @param taskSeconds run time summed over the tasks
 * @param longestSeconds run time of the longest task
 * @param spanSeconds from the stage's submission to its end
 */
final case class StageWork(tasks: Int, taskSeconds: Double, longestSeconds: Double, spanSeconds: Double)

private[engine] object StageWork {

  /** The numbers of all stages in one array, which crosses into the library in one copy. */
  def flatten(stages: Seq[StageWork]): Array[Double] = {
    val numbers = new Array[Double](4 * stages.length)
    var at = 0
    stages.foreach { stage =>
      numbers(at) = stage.tasks.toDouble
      numbers(at + 1) = stage.taskSeconds
      numbers(at + 2) = stage.longestSeconds
      numbers(at + 3) = stage.spanSeconds
      at += 4
    }
    numbers
  }
}
