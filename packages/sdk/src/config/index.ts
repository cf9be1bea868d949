import '../engines.ts'

export * from './closest.ts'
export * from './kit.ts'
export * from './leaves.ts'
export * from './listen.ts'
export * from './name-filter.ts'
export * from './secret.ts'
export * from './spelling.ts'
