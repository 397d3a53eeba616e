package org.apache.spark.slaq.loss

import org.apache.spark.slaq.engine.NativeLibrary

/**
 * What of the JVM's tool interface the loss probes need. Codes are those of JVMTI, 0 for success, or negative ones of
 * JNI when the JVM has no such interface; [[errorName]] tells them apart. All methods may be called by any thread.
 */
private[slaq] final class Jvmti private () {

  /** Appends a jar to the search path of the system class loader, where classes of Spark and of libraries can see it. */
  @native def addToSystemClassPath(path: String): Int

  /**
   * Has a class replaced when it is loaded, by whichever class loader, if its bytes are the original ones.
   *
   * @param name with slashes
   * @param replacement must be a valid class: what fails verification fails when it is used
   */
  @native def replaceOnLoad(name: String, original: Array[Byte], replacement: Array[Byte]): Int

  /** All classes that are loaded now. */
  @native def loadedClasses(): Array[Class[_]]

  /**
   * Replaces the byte code of one loaded class. Any code but 0 leaves the class as it was: 62 is byte code that fails
   * verification.
   */
  @native def redefine(target: Class[_], bytes: Array[Byte]): Int

  /** The name of a code, such as JVMTI_ERROR_FAILS_VERIFICATION. */
  @native def errorName(code: Int): String
}

private[slaq] object Jvmti {

  /** The interface, or why the native library can't be used. */
  def open(): Either[Throwable, Jvmti] = NativeLibrary.load().map(_ => new Jvmti)
}
