package org.apache.spark.slaq.arbiter

/**
 * Who plans the executors of several applications. Messages are JSON whose format is that of the native library: nothing
 * of Spark's or of Scala's is in them, so drivers of different Spark lines can share one.
 */
private[slaq] trait Arbiter extends AutoCloseable {

  /**
   * Says something and waits for the answer, at most a few seconds.
   *
   * @throws java.io.IOException if there is no answer
   */
  def ask(message: Array[Byte]): Array[Byte]
}
