// What a process of tests runs: each file as a suite of its name, so that several share what a start costs, and each
// still has hooks and results of its own.

import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'

for (const file of JSON.parse(process.env.SONDE_TEST_FILES ?? '[]')) {
  await suite(file, async () => {
    await import(pathToFileURL(file).href)
  })
}
