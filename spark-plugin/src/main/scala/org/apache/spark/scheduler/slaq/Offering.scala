package org.apache.spark.scheduler.slaq

/**
 * Who may start tasks in the offers under way: those with room in their share and, after them, borrowers up to what is
 * lent. Guarded by the scheduler's lock.
 */
private[slaq] final class Offering {
  private var left = 0
  private var turnedAway = false

  /** Begins a round in which `cores` are lent beyond the shares. */
  def begin(cores: Int): Unit = {
    left = cores
    turnedAway = false
  }

  /** Whether somebody was refused in this round, so that free cores are worth lending. */
  def refused: Boolean = turnedAway

  def allows(account: RunAccount): Boolean = {
    val allowed = account.hasRoom || left > 0
    if (!allowed) turnedAway = true
    allowed
  }

  /** A task of the account is about to start. */
  def launching(account: RunAccount): Unit = if (!account.hasRoom) left = math.max(0, left - 1)
}
