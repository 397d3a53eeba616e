package org.apache.spark.slaq.executors

/** What becomes of the number of executors that Spark's dynamic allocation asks for. */
private[slaq] sealed trait Steering {

  /** Executors to ask for where Spark asks for so many. */
  def of(asked: Int): Int

  /** Executors above which some are retired; None where that is Spark's own affair. */
  def most: Option[Int]
}

private[slaq] object Steering {

  /** Nothing: Spark decides. */
  case object Free extends Steering {
    override def of(asked: Int): Int = asked
    override def most: Option[Int] = None
  }

  /** While training: Spark's number sags between two iterations, and would never reach a target that rises. */
  final case class Exactly(executors: Int) extends Steering {
    override def of(asked: Int): Int = executors
    override def most: Option[Int] = Some(executors)
  }

  /** Otherwise: Spark knows what it needs, and others may need more. */
  final case class AtMost(executors: Int) extends Steering {
    override def of(asked: Int): Int = math.min(asked, executors)
    override def most: Option[Int] = Some(executors)
  }
}
