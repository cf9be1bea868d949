/** Processor time that this thread took so far. Unit: milliseconds. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The longest turn of the event loop while some work goes on, in processor time of this thread. Unit: milliseconds. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0
  let lastMs = processorMs()
  let isRunning = true
  const watch = () => {
    const nowMs = processorMs()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
    if (isRunning) setImmediate(watch)
  }
  setImmediate(watch)
  await work()
  isRunning = false
  watch()
  return longestMs
}
