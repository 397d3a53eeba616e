package org.apache.spark.slaq.arbiter

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.nio.file.attribute.PosixFilePermission

/** The shared secret of an arbiter and its drivers. */
private[slaq] object Secret {

  /**
   * The first line of a file that only its owner and group can read.
   *
   * @throws java.lang.IllegalArgumentException naming the option, the file and what is allowed
   */
  def read(option: String, file: String): String = {
    def refuse(why: String) =
      throw new IllegalArgumentException(s"$option = $file: $why; allowed: a file with the secret in its first line that others cannot read")
    val path = Paths.get(file)
    val lines =
      try Files.readAllLines(path, UTF_8)
      catch { case e: IOException => refuse(s"cannot be read ($e)") }
    if (readableByOthers(path)) refuse("others can read it")
    if (lines.isEmpty || lines.get(0).trim.isEmpty) refuse("its first line is empty")
    lines.get(0).trim
  }

  private def readableByOthers(path: java.nio.file.Path): Boolean =
    try Files.getPosixFilePermissions(path).contains(PosixFilePermission.OTHERS_READ)
    catch { case _: UnsupportedOperationException => false }
}
