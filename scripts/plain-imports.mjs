// Resolves the imports of sources without looking at the disk. Node asks for each import whether the file exists, where
// its link leads, and which package it belongs to. That takes a sixth of the time in which a process loads the sources.

import { registerHooks } from 'node:module'

const ROOT = new URL('../', import.meta.url).href
/** What the packages of the workspace resolve to, by specifier: the same for every module. */
const packages = new Map()

registerHooks({
  resolve(specifier, context, next) {
    if (/^\.\.?\/.*\.ts$/.test(specifier) && context.parentURL?.startsWith(ROOT)) {
      return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
    }
    if (!specifier.startsWith('@sonde/')) return next(specifier, context)
    const known = packages.get(specifier) ?? { ...next(specifier, context), shortCircuit: true }
    packages.set(specifier, known)
    return known
  },
})
