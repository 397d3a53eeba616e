package org.apache.spark.slaq

import java.io.Writer
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.nio.file.StandardOpenOption.{APPEND, CREATE}
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.MILLISECONDS
import java.util.concurrent.atomic.AtomicLong

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.internal.Logging

/**
 * A file of JSON lines, written by a thread of its own. Who writes never waits: lines that the file system does not
 * take fast enough are dropped, and the next line that is written says how many.
 */
private[slaq] final class Record private (path: String, out: Writer) extends AutoCloseable with Logging {
  private val lines = new LinkedBlockingQueue[JsonNode](Record.Capacity)
  private val dropped = new AtomicLong
  @volatile private var closing = false
  private val thread = new Thread(() => run(), "slaq-record")
  thread.setDaemon(true)
  thread.start()

  def write(line: JsonNode): Unit = if (closing || !lines.offer(line)) dropped.incrementAndGet()

  /** Ends the file with what was written before. */
  override def close(): Unit = {
    closing = true
    thread.join(Record.CloseMillis)
  }

  private def run(): Unit =
    try {
      while (!(closing && lines.isEmpty)) {
        Option(lines.poll(Record.PollMillis, MILLISECONDS)).foreach { line =>
          print(line)
          val lost = dropped.getAndSet(0)
          if (lost > 0) print(Lines.dropped(lost))
          if (lines.isEmpty) out.flush()
        }
      }
      out.close()
    } catch {
      case NonFatal(e) =>
        closing = true
        logWarning(s"SLAQ can't write ${SlaqConf.ExplainPath.key} = $path any more", e)
    }

  private def print(line: JsonNode): Unit = {
    out.write(line.toString)
    out.write('\n')
  }
}

private[slaq] object Record extends Logging {
  private val Capacity = 10000
  private val PollMillis = 100L
  private val CloseMillis = 10000L

  /** Opens the file to append to it; None, and a warning, if that can't be done. */
  def open(path: String): Option[Record] =
    try Some(new Record(path, Files.newBufferedWriter(Paths.get(path), UTF_8, CREATE, APPEND)))
    catch {
      case NonFatal(e) =>
        logWarning(s"SLAQ can't write ${SlaqConf.ExplainPath.key} = $path, so there will be no record", e)
        None
    }
}
