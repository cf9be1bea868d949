/** How often the parent process is checked. Unit: milliseconds. */
const LOOK_MS = 250

/**
 * Ends this process when npx has ended. npx starts a shell, which starts this process. A signal to npx ends npx and the
 * shell, and does not reach this process; a new parent shows that they are gone. Does nothing without npx.
 */
export function endWithNpx(): void {
  if (process.env.npm_lifecycle_event !== 'npx') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
}
