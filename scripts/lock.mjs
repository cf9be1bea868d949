// A lock between processes: a file that names its owner. The lock of a process that is gone is taken over.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

const POLL_MS = 200

/**
 * Runs `work` while holding the lock file at `path`; waits for as long as a living process holds it.
 *
 * @template T
 * @param {string} path
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  const mine = `${process.pid} ${startOf(process.pid)}`
  for (let told = false; !acquire(path, mine); told = true) {
    if (!told) process.stderr.write('Waiting for another set-up to end…\n')
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  const release = () => {
    if (read(path) === mine) rmSync(path, { force: true })
  }
  // `work` may end the process with a message.
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.removeListener('exit', release)
    release()
  }
}

function acquire(path, mine) {
  const owner = read(path)
  if (owner !== undefined && !isAlive(owner)) takeAway(path, owner)
  const candidate = `${path}.${process.pid}`
  writeFileSync(candidate, mine)
  try {
    // A link appears with its content, and fails where a file is: nobody ever reads half a lock.
    linkSync(candidate, path)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(candidate, { force: true })
  }
}

/** Removes a stale lock. Of two processes that see it stale at once, one may find it has taken the other's new lock. */
function takeAway(path, stale) {
  const aside = `${path}.stale.${process.pid}`
  try {
    renameSync(path, aside)
    if (read(aside) !== stale) linkSync(aside, path)
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
  }
  rmSync(aside, { force: true })
}

/** A process id is used again after a while; together with its start it names one process. */
function isAlive(owner) {
  const [pid, start] = owner.split(' ')
  return startOf(pid) === start && start !== 'gone'
}

/** When a process started, in clock ticks since boot: field 22 of its stat line, the 20th after the command's name. */
function startOf(pid) {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return 'gone'
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 'gone'
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined
    throw error
  }
}
