import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { assertStops, startSonde, temporaryDir } from '../sonde-process.ts'

/** The sources of the command: a program of one piece has no modules to see. */
const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

/** Says of each module that is loaded where it is. */
const HOOK = `import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
registerHooks({ load(url, context, next) { writeSync(2, 'loaded ' + url + '\\n'); return next(url, context) } })`
/** What the configuration needs to know of the simulator. */
const NAMES = ['check-scenario-name.ts', 'config.ts', 'flag.ts', 'names.ts', 'simulator.ts']

test('the simulator is loaded where it is asked for, and costs nothing elsewhere', async (t) => {
  const folder = temporaryDir()
  t.after(() => folder.remove())
  const hook = join(folder.path, 'hook.mjs')
  writeFileSync(hook, HOOK)
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}` }
  const loadedBy = async (...flags: string[]) => {
    const sonde = await startSonde(['agent', '--listen', '127.0.0.1:0', ...flags], { env, main: MAIN })
    t.after(() => sonde.stop('SIGKILL'))
    const urls = sonde.output().match(/^loaded .*\/sources\/simulator\/.*$/gm) ?? []
    await assertStops(sonde)
    return urls.map((url) => url.split('/').at(-1)).sort()
  }
  assert.deepEqual(await loadedBy(), NAMES)
  assert.ok((await loadedBy('--simulate')).includes('simulation.ts'))
})
