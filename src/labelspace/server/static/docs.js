// The page of the API: Swagger UI, which comes with the server, on the server's own description.
"use strict";

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#api",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null, // it would send the description elsewhere
});
