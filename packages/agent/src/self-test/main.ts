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
  if (plan.library === 'nvml') await (await import('./nvml/check-nvml.ts')).testNvml(plan, send)
  else await (await import('./doca/check-doca.ts')).testDoca(plan, send)
}

const send: SendFromTest = (message) => {
  process.send?.(message)
}
