package org.apache.spark.rpc.netty.slaq

import org.apache.spark.rpc.{RpcAddress, RpcEndpointAddress, RpcEndpointRef, RpcEnv}
import org.apache.spark.rpc.netty.{NettyRpcEndpointRef, NettyRpcEnv}

/**
 * A reference to an endpoint that is not asked first whether it exists. `RpcEnv.setupEndpointRef` asks with an object
 * whose serialised form differs between Spark's lines, so that a 3.5 driver could not reach an arbiter on 4.x.
 */
private[spark] object UnverifiedRef {
  def apply(env: RpcEnv, address: RpcAddress, name: String): RpcEndpointRef = {
    val netty = env.asInstanceOf[NettyRpcEnv]
    new NettyRpcEndpointRef(netty.conf, RpcEndpointAddress(address, name), netty)
  }
}
