package org.apache.spark.slaq.arbiter

import scala.collection.mutable

import org.apache.spark.internal.Logging
import org.apache.spark.rpc.{RpcAddress, RpcCallContext, RpcEnv, ThreadSafeRpcEndpoint}

/** Answers drivers, and notices when their connections break. Whatever is no message of ours is refused and forgotten. */
private[arbiter] final class ArbiterEndpoint(override val rpcEnv: RpcEnv, arbiter: LocalArbiter)
    extends ThreadSafeRpcEndpoint
    with Logging {

  /** Which applications speak through a connection. */
  private val apps = mutable.HashMap.empty[RpcAddress, mutable.Set[String]]
  private val complaints = new RateLimit(10.0)

  override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = {
    case message: Array[Byte] =>
      val (app, answer) = arbiter.answer(message)
      app.foreach(apps.getOrElseUpdate(context.senderAddress, mutable.Set.empty) += _)
      context.reply(answer)
    case other =>
      complain(s"${context.senderAddress} sent a ${other.getClass.getName} instead of bytes")
      context.sendFailure(new IllegalArgumentException("allowed are bytes only"))
  }

  override def receive: PartialFunction[Any, Unit] = {
    case other => complain(s"a message of ${other.getClass.getName} wants no answer: ignored")
  }

  override def onDisconnected(from: RpcAddress): Unit = apps.remove(from).foreach(_.foreach(arbiter.disconnected))

  override def onError(cause: Throwable): Unit = complain(s"a message could not be answered: $cause")

  private def complain(what: => String): Unit = complaints(say => logWarning(what + say))
}
