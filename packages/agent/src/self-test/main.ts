import type { FromTest, TestPlan } from './protocol.ts'

// Entry of the child process that loads the library of a vendor. It ends with its parent.

process.once('message', (plan: TestPlan) => {
  void run(plan).then(
    () => send({ kind: 'ended' }),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exitCode = 1
      process.disconnect()
    },
  )
})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

async function run(plan: TestPlan): Promise<void> {
  const { testDoca } = await import('./doca/test-doca.ts')
  await testDoca(plan, send)
}

function send(message: FromTest): void {
  process.send?.(message)
}
