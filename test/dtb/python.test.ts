import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sampleFile } from '../../packages/sdk/test/dtb-sample.ts'
import { Random, SEED } from '../../packages/sdk/test/random.ts'
import { needs } from '../debian.ts'
import { PYTHON_READER } from './both-readers.ts'
import { damage, decode } from './damage.ts'

test(
  `the reader in Python and \`sonde read\` stop at the same place of a damaged file (seed ${SEED})`,
  needs('python3'),
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'sonde-dtb-'))
    t.after(() => rmSync(dir, { recursive: true, force: true }))
    const random = new Random(SEED)
    const ours = new Map<string, string>()
    for (let i = 0; i < 300; i++) {
      const sample = await sampleFile(random, 10)
      const cut = sample.bytes.subarray(0, random.integer(0, sample.bytes.length))
      const bytes = random.chance(0.3) ? cut : damage(random, sample)
      const path = join(dir, `${i}.bin`)
      writeFileSync(path, bytes)
      const { end } = decode(bytes, { salvage: false })
      ours.set(path, `${end.state} at ${end.at}, ${end.ignoredBytes} bytes ignored`)
    }
    const { stderr } = spawnSync('python3', [PYTHON_READER, ...ours.keys()], { encoding: 'utf8', maxBuffer: 1 << 26 })
    const theirs = stderr
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [, path = '', state, rest] =
          /^(.*\.bin): \d+ records, (\w+).*?( at \d+, \d+ bytes ignored)$/.exec(line) ?? []
        return [path, `${state}${rest}`]
      })
    assert.deepEqual(new Map(theirs as [string, string][]), ours)
  },
)
