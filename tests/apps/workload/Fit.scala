package workload

import scala.io.Source

/**
 * One training of a schedule.
 *
 * @param name       unique; shown everywhere, and the run's name in the product's records
 * @param kind       what is trained, see [[Training]]
 * @param data       name of the data set, see scripts/datasets.py
 * @param partitions of the data, at least 1
 * @param millis     emulated time of a task; 0 = the task's own computing only
 * @param iterations the estimator's maxIter
 * @param at         when it is submitted, seconds after the start of the schedule
 * @param seed       of estimators that draw random numbers
 */
final case class Fit(name: String, kind: String, data: String, partitions: Int, millis: Int, iterations: Int, at: Double, seed: Long)

object Fit {
  /** Reads a schedule: one fit a line, the fields above in their order, separated by tabs. */
  def schedule(path: String): Seq[Fit] = {
    val source = Source.fromFile(path, "UTF-8")
    try source.getLines().filter(_.nonEmpty).map { line =>
      line.split('\t') match {
        case Array(name, kind, data, partitions, millis, iterations, at, seed) =>
          Fit(name, kind, data, partitions.toInt, millis.toInt, iterations.toInt, at.toDouble, seed.toLong)
        case other => throw new IllegalArgumentException(s"$path: a fit has 8 fields, not ${other.length}: $line")
      }
    }.toList finally source.close()
  }
}
