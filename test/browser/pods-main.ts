// An agent with its page, and with a source of the pods and GPUs that the file PODS_FILE describes: a test changes them
// by writing it anew.
import { readFileSync } from 'node:fs'
import { podSource, type TestPods } from '../../packages/agent/test/pod-source.ts'
import { serveSource } from '../serve-source.ts'

const file = process.env.PODS_FILE ?? ''
let last: TestPods = { pods: [] }

/** What the file says; what it said before where it is half written. */
function look(): TestPods {
  try {
    last = JSON.parse(readFileSync(file, 'utf8')) as TestPods
  } catch {
    // The next sample finds all of it.
  }
  return last
}

await serveSource({
  source: { name: 'pods_of_test', definition: podSource(look, 1000), intervalMs: 1000, options: {} },
  hasPage: true,
})
