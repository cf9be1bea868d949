import { messageOf } from '@sonde/sdk/internal'
import type { SendFromTest, TestPlan } from './protocol.ts'

// Entry of the child process that loads the library of a vendor. It ends with its parent.

process.once('message', (plan: TestPlan) => {
  void run(plan).then(
    () => send({ kind: 'ended' }),
    (error: unknown) => send({ kind: 'broken', reason: messageOf(error) }),
  )
})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

async function run(plan: TestPlan): Promise<void> {
  const { testDoca } = await import('./doca/test-doca.ts')
  await testDoca(plan, send)
}

const send: SendFromTest = (message) => {
  process.send?.(message)
}
