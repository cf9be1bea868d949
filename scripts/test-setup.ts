// What the machine and the clone need before test files run.

import { join } from 'node:path'
import { root, setUpWeb } from './setup.mjs'
import { buildTestProgram } from './test-program.ts'

/** Tests that start the command in processes of its own. */
const STARTS_COMMAND = /^(test\/(?!house)|examples\/)/

/** Builds what the files need, and sets the variables that their processes read. False if the page cannot be built. */
export async function setUpTests(files: readonly string[]): Promise<boolean> {
  // Hundreds of processes load the same modules: stripped of types and compiled once, each starts in half the time.
  process.env.NODE_COMPILE_CACHE ??= join(root, '.cache/compile')
  const hasPage = await setUpWeb()
  if (files.some((file) => STARTS_COMMAND.test(file))) process.env.SONDE_TEST_MAIN ??= await buildTestProgram()
  return hasPage
}
