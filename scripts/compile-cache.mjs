// Loaded before a test (`--import`): modules are stripped of types and compiled once for all processes. Child processes
// inherit arguments of Node; those in which sources run inherit no `NODE_COMPILE_CACHE`.

import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import './plain-imports.mjs'

const FLUSH_MS = 1000

enableCompileCache(process.env.NODE_COMPILE_CACHE ?? fileURLToPath(new URL('../.cache/compile', import.meta.url)))
// Node writes the cache when a process exits. Processes that a test kills never exit, so they write it soon.
setTimeout(flushCompileCache, FLUSH_MS).unref()
