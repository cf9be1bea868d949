// The worker of the store, with the clock of a test.
import './simulated-clock.ts'

await import('../server/store/worker/main.ts')
