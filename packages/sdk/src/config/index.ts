import '../engines.ts'

export * from './closest.ts'
export * from './kit.ts'
export * from './leaves.ts'
