// The image that tests run: built once for each state of the sources.

import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withLock } from '../../scripts/lock.mjs'
import { nodeFlags, root } from '../../scripts/setup.mjs'
import { hashOfFiles, PROGRAM_INPUTS } from '../../scripts/test-program.ts'

const IMAGES = join(root, '.cache/image/tests')
const INPUTS = [...PROGRAM_INPUTS, 'packages/console/web/**/*.*', 'scripts/{library,manifest}.ts', 'scripts/image/*.ts']

/** The folder of an image layout of this architecture. */
export async function sharedImage(): Promise<string> {
  const folder = join(IMAGES, hashOfFiles(INPUTS).slice(0, 16))
  mkdirSync(IMAGES, { recursive: true })
  await withLock(join(IMAGES, 'lock'), async () => {
    if (existsSync(`${folder}.tar`)) return
    for (const old of globSync('*[!k]', { cwd: IMAGES })) rmSync(join(IMAGES, old), { recursive: true, force: true })
    // The archive is written last: it says that the layout is complete.
    const script = join(root, 'scripts/image/main.ts')
    await promisify(execFile)(process.execPath, [...nodeFlags, script, '--out', folder], { cwd: root })
  })
  return folder
}
