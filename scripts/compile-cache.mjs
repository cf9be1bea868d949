// Loaded before a test (`--import`): modules are stripped of types and compiled once for all processes. Child processes
// inherit arguments of Node; those in which sources run inherit no `NODE_COMPILE_CACHE`.

import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

enableCompileCache(process.env.NODE_COMPILE_CACHE ?? fileURLToPath(new URL('../.cache/compile', import.meta.url)))
