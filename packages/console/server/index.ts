export { defaultDataDir, type StoreConfig, storeSchema } from './config.ts'
export { pageRoutes } from './page.ts'
