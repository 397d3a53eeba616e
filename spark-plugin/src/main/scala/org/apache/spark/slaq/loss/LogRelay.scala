// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.slaq.loss

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.{Filter, Layout, LogEvent, LoggerContext}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{LoggerConfig, Property}

/**
 * Reads all that a logger writes at INFO and leaves what the user sees unchanged: each event goes on to the
 * configuration that would have had it without us, if that lets it pass, whatever its level has become meanwhile
 * (`SparkContext.setLogLevel` changes it).
 *
 * @param logger name of the logger, those below it included
 * @param read   gets each event on the thread that logs; what it throws is dropped
 */
private[loss] final class LogRelay(context: LoggerContext, logger: String, read: LogEvent => Unit) extends AutoCloseable {
  private val configuration = context.getConfiguration
  private val before = configuration.getLoggerConfig(logger)
  private val own = before.getName == logger // the user configured this very logger
  private val level = if (before.getLevel.isLessSpecificThan(Level.INFO)) before.getLevel else Level.INFO
  private val relayed = new LoggerConfig(logger, level, false)

  private val appender =
    new AbstractAppender(s"slaq-$logger", null.asInstanceOf[Filter], null.asInstanceOf[Layout[String]], true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = {
        try read(event) catch { case Harmless(_) => () }
        val to = if (own) before else relayed.getParent
        if (to.getLevel.isLessSpecificThan(event.getLevel)) to.log(event)
      }
    }

  appender.start()
  relayed.addAppender(appender, null, null)
  replace(relayed)

  override def close(): Unit = {
    if (own) replace(before) else configuration.removeLogger(logger)
    context.updateLoggers()
    appender.stop()
  }

  private def replace(by: LoggerConfig): Unit = {
    configuration.removeLogger(logger)
    configuration.addLogger(logger, by)
    context.updateLoggers()
  }
}
