package org.apache.spark.slaq.engine

import java.util.{Arrays, Random}

/**
 * Cost of the boundary and of what is behind it, as one JSON object: `JniBench [RUNS [CORES]]`.
 *
 *  - call_us: a guarded call that does nothing
 *  - report_us: a loss through the boundary with its fit, on runs with a full history
 *  - plan_ms: a plan for all runs
 */
object JniBench {
  private val Iterations = 60
  private val Rounds = 300

  def main(args: Array[String]): Unit = {
    val runs = args.headOption.fold(100)(_.toInt)
    val cores = args.lift(1).fold(1000)(_.toInt)
    val engine = Engine.open(Map.empty).fold(throw _, identity)
    val native = new Native
    val random = new Random(42)
    val curves = Array.fill(runs)(curve(random))
    var now = 0.0
    for (run <- 0 until runs) {
      engine.start(RunSpec(run.toLong, None, s"Algorithm${run % 8}", None, maximise = false, hasLoss = true, Some(1000), Some(1e-4)), now)
    }
    val work = Array.tabulate(runs)(run => Seq(StageWork(32 + run % 64, 3.2 + run % 7, 0.15, 0.3)))
    var iteration = 0
    def step(each: (Int, () => Unit) => Unit): Unit = {
      now += 0.5
      for (run <- 0 until runs) {
        val loss = curves(run)(iteration)
        each(run, () => engine.report(run.toLong, iteration, loss, now, work(run)))
      }
      iteration += 1
    }
    while (iteration < Iterations) step((_, report) => report())
    for (_ <- 1 to Rounds) engine.plan(cores, 0.0, now)

    val calls = Array.fill(Rounds)(timed(for (_ <- 1 to 1000) native.close(0)) / 1000)
    val reports = new Array[Double](runs * 20)
    for (round <- 0 until 20) step((run, report) => reports(round * runs + run) = timed(report()))
    val plans = Array.fill(Rounds) { now += 1.0; timed(engine.plan(cores, 0.0, now)) }
    engine.close()
    println(s"""{"runs": $runs, "cores": $cores, "call_us": ${spread(calls, 1e6)}, """ +
      s""""report_us": ${spread(reports, 1e6)}, "plan_ms": ${spread(plans, 1e3)}}""")
  }

  /** A loss that falls like those of first-order methods, or exponentially, with a little noise. */
  private def curve(random: Random): Int => Double = {
    val (height, base, rate) = (1 + 99 * random.nextDouble(), 10 * random.nextDouble(), 0.02 + 0.3 * random.nextDouble())
    val exponential = random.nextBoolean()
    k => base + height * (if (exponential) math.exp(-rate * k) else 1 / (1 + rate * k)) * (1 + 0.01 * random.nextGaussian())
  }

  private def timed(body: => Unit): Double = {
    val start = System.nanoTime()
    body
    (System.nanoTime() - start) * 1e-9
  }

  private def spread(seconds: Array[Double], unit: Double): String = {
    Arrays.sort(seconds)
    def at(part: Double): String = f"${seconds(((seconds.length - 1) * part).toInt) * unit}%.3f"
    s"""{"median": ${at(0.5)}, "p90": ${at(0.9)}, "p99": ${at(0.99)}, "max": ${at(1.0)}}"""
  }
}
